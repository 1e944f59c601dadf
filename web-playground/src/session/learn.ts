// What an answer tells about who is signed in: tokens of signUp, logIn and the like, and logOut.
// Never: sending what the person at the keyboard wrote.
import { Kind, type OperationDefinitionNode } from 'graphql';
import { type GraphQLAnswer, post } from '../api/post';
import { actingPerson, forget, type Person, signIn, tell } from './store';

interface Tokens {
  accessToken: string;
  accessTokenExpiresAt?: string;
  refreshToken?: string;
}

interface Payload {
  tokens?: Partial<Tokens> | null;
  viewer?: { user?: Partial<Person> | null } | null;
}

export async function learnFrom(operation: OperationDefinitionNode, { data }: GraphQLAnswer) {
  for (const payload of Object.values(data ?? {}) as (Payload | null)[]) {
    const tokens = payload?.tokens;
    if (tokens?.accessToken) await adopt(tokens as Tokens, payload?.viewer?.user ?? {});
  }
  const person = actingPerson();
  if (person && data && loggedOut(operation, data)) forget(person.handle, `${person.displayName} is logged out.`);
}

/** Signs in with a token; asks the server whose it is unless that is known already. */
export async function adopt(tokens: Tokens, known: Partial<Person> = {}): Promise<boolean> {
  const who = known.id && known.handle && known.displayName ? known : await whoHolds(tokens.accessToken);
  if (!who?.id || !who.handle) {
    tell('The server does not know that token.');
    return false;
  }
  signIn({
    id: who.id,
    handle: who.handle,
    displayName: who.displayName ?? who.handle,
    accessToken: tokens.accessToken,
    accessTokenExpiresAt: tokens.accessTokenExpiresAt ?? null,
    refreshToken: tokens.refreshToken ?? null,
  });
  return true;
}

async function whoHolds(token: string): Promise<Partial<Person> | null> {
  const query = 'query WhoAmI { viewer { user { id handle displayName } } }';
  try {
    const { data } = await post({ query }, token);
    return (data?.viewer as Payload['viewer'])?.user ?? null;
  } catch {
    return null;
  }
}

function loggedOut(operation: OperationDefinitionNode, data: Record<string, unknown>): boolean {
  return operation.selectionSet.selections.some(
    (field) =>
      field.kind === Kind.FIELD && field.name.value === 'logOut' && data[field.alias?.value ?? 'logOut'] != null,
  );
}
