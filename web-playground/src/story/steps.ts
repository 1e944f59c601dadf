// The newcomer's story, and the tour of the demo world: who does what, in which tab, with which variables.
// Never: the text of the operations (operations.ts), markup.
import type { Cast } from './cast';
import { ID_TO_COME, type OperationName, variablesOf } from './operations';
import { knownId } from './progress';

export interface Step {
  /** Unique in the story, and kept with the progress. */
  id: string;
  title: string;
  hint: string;
  operation: OperationName;
  /** Who does it; for SignUp and LogIn, who is signed in by it. */
  who: string;
  variables: () => object;
}

const step = (operation: OperationName, who: string, title: string, hint: string, variables: () => object): Step => ({
  id: `${operation}:${who}`,
  operation,
  who,
  title,
  hint,
  variables,
});

export function storyOf({ ada, ben }: Cast): Step[] {
  return [
    step('SignUp', ada.handle, 'Ada signs up', 'The answer holds her token, and the bar above keeps it.', () =>
      variablesOf.SignUp(ada),
    ),
    step('SignUp', ben.handle, 'Ben signs up', 'Now two people are signed in; the bar switches between them.', () =>
      variablesOf.SignUp(ben),
    ),
    step('UserByHandle', ben.handle, 'Ben looks Ada up', 'To follow her, he needs her id.', () =>
      variablesOf.UserByHandle(ada),
    ),
    step('FollowUser', ben.handle, 'Ben follows Ada', 'Her id is filled in for you.', () =>
      variablesOf.FollowUser(knownId(ada.handle) ?? ID_TO_COME),
    ),
    step('PostMessage', ada.handle, 'Ada posts a message', 'Change the text to whatever you like.', () =>
      variablesOf.PostMessage(),
    ),
    step('Feed', ben.handle, 'Ben reads his feed', 'And there it is.', () => variablesOf.Feed()),
  ];
}

/** Each can be logged in as; the feed is read by whoever of them acts. */
export function tourOf({ guests }: Cast, acting: string | null): Step[] {
  const reader = guests.find(({ handle }) => handle === acting) ?? guests[0];
  if (!reader) return [];
  return [
    ...guests.map((guest) =>
      step('LogIn', guest.handle, `Log in as ${guest.displayName}`, `@${guest.handle}`, () => variablesOf.LogIn(guest)),
    ),
    step('Feed', reader.handle, `Read the feed of ${reader.displayName}`, 'Once logged in.', () => variablesOf.Feed()),
  ];
}
