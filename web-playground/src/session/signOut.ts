// Signing out with the button: ends the session on the server when it was begun here, and forgets it.
// Never: the logOut that someone runs in GraphiQL (learn.ts sees that).
import { post } from '../api/post';
import { forget, type Person } from './store';

export async function signOut(person: Person) {
  forget(person.handle, `${person.displayName} is signed out, and the token forgotten.`);
  if (!person.refreshToken) return; // Pasted in: the session is somebody else's to end.
  const query = 'mutation LogOut { logOut(input: {}) { __typename } }';
  await post({ query, operationName: 'LogOut' }, person.accessToken).catch(() => undefined);
}
