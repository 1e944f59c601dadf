// The newcomer's story: who does what, in which tab, with which variables.
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
  /** Who does it; for SignUp, who is signed up. */
  who: string;
  variables: () => object;
}

export function storyOf({ ada, ben }: Cast): Step[] {
  const step = (operation: OperationName, who: string, title: string, hint: string, variables: () => object): Step => ({
    id: `${operation}:${who}`,
    operation,
    who,
    title,
    hint,
    variables,
  });
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
