// The example operations, one a tab, in the order a newcomer runs them.
// Never: who runs which and when (steps.ts).
import type { Cast, Character, Guest } from './cast';

export const operations = {
  SignUp: `# Creates a person and signs them in.
# The playground keeps the token and
# sends it from here on.
mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) {
    viewer {
      user { id handle displayName }
    }
    tokens {
      accessToken
      accessTokenExpiresAt
      refreshToken
    }
  }
}
`,
  LogIn: `# Signs in somebody who has
# signed up before.
mutation LogIn($input: LogInInput!) {
  logIn(input: $input) {
    viewer {
      user { id handle displayName }
    }
    tokens {
      accessToken
      accessTokenExpiresAt
      refreshToken
    }
  }
}
`,
  UserByHandle: `# Looks a person up. The last three
# depend on who is asking.
query UserByHandle($handle: String!) {
  user(handle: $handle) {
    id
    handle
    displayName
    bio
    followerCount
    viewerFollows
    followsViewer
    isFriend
  }
}
`,
  FollowUser: `# Follows a person, named by the id
# that UserByHandle gives.
mutation FollowUser($input: FollowUserInput!) {
  followUser(input: $input) {
    user {
      handle
      displayName
      followerCount
      viewerFollows
      isFriend
    }
  }
}
`,
  PostMessage: `# Posts a message to all who follow
# the person acting.
mutation PostMessage($input: PostMessageInput!) {
  postMessage(input: $input) {
    message {
      id
      content
      createdAt
      author { handle displayName }
    }
  }
}
`,
  Feed: `# What the people one follows have
# posted, newest first.
query Feed($first: Int) {
  feed(first: $first) {
    nodes {
      author { handle displayName }
      title
      content
      createdAt
      likeCount
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
} as const;

export type OperationName = keyof typeof operations;

/** Stands in FollowUser's variables until the id is known. */
export const ID_TO_COME = 'the id that UserByHandle gives';

export const variablesOf = {
  SignUp: ({ handle, displayName, password, bio }: Character) => ({ input: { handle, displayName, password, bio } }),
  LogIn: ({ handle, password }: Guest) => ({ input: { handle, password } }),
  UserByHandle: ({ handle }: Character) => ({ handle }),
  FollowUser: (userId: string) => ({ input: { userId } }),
  PostMessage: () => ({ input: { content: 'The engine weaves algebraic patterns as the loom weaves flowers and leaves.' } }),
  Feed: () => ({ first: 10 }),
};

export const asText = (variables: object) => JSON.stringify(variables, null, 2);

export function exampleTabs({ ada }: Cast) {
  const variables: Record<OperationName, object> = {
    SignUp: variablesOf.SignUp(ada),
    LogIn: variablesOf.LogIn(ada),
    UserByHandle: variablesOf.UserByHandle(ada),
    FollowUser: variablesOf.FollowUser(ID_TO_COME),
    PostMessage: variablesOf.PostMessage(),
    Feed: variablesOf.Feed(),
  };
  return (Object.keys(operations) as OperationName[]).map((name) => ({
    query: operations[name],
    variables: asText(variables[name]),
  }));
}
