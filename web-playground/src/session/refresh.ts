// Keeps the acting person's access token alive with their refresh token; one refresh a person at a time.
// Never: who is acting (store.ts).
import { post } from '../api/post';
import { actingPerson, forget, keep, type Person } from './store';

const MARGIN_MS = 30_000;
const REFRESH = `mutation RefreshSession($input: RefreshSessionInput!) {
  refreshSession(input: $input) { tokens { accessToken accessTokenExpiresAt refreshToken } }
}`;

const PASSING = ['RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL'];

const underWay = new Map<string, Promise<void>>();

/** The acting person's token, renewed first when it is about to end. Null when nobody acts. */
export async function liveToken(): Promise<string | null> {
  const person = actingPerson();
  if (!person) return null;
  if (person.refreshToken && endsSoon(person)) await renew(person);
  return actingPerson()?.accessToken ?? null;
}

function endsSoon({ accessTokenExpiresAt }: Person): boolean {
  return accessTokenExpiresAt !== null && Date.parse(accessTokenExpiresAt) - Date.now() < MARGIN_MS;
}

/** New tokens for this person; forgets them when the server gives none. */
export function renew(person: Person): Promise<void> {
  const running = underWay.get(person.handle);
  if (running) return running;
  const started = exchange(person).finally(() => underWay.delete(person.handle));
  underWay.set(person.handle, started);
  return started;
}

async function exchange(person: Person) {
  const ended = `The session of ${person.displayName} has ended. Log in again.`;
  if (!person.refreshToken) return forget(person.handle, ended);
  const variables = { input: { refreshToken: person.refreshToken } };
  const { data, errors } = await post({ query: REFRESH, variables, operationName: 'RefreshSession' }, null);
  const tokens = (data?.refreshSession as { tokens?: Pick<Person, 'accessToken'> } | null)?.tokens;
  if (tokens) return keep({ ...person, ...tokens });
  const isPassing = errors?.some(({ extensions }) => PASSING.includes(extensions?.code ?? ''));
  if (isPassing) throw new Error(errors?.[0]?.message); // The refresh token is still good; only now is a bad time.
  forget(person.handle, ended);
}
