// The people signed in during this browser session, and which of them is acting.
// Kept in sessionStorage: a reload keeps them, closing the tab forgets them. Never: requests.
import { useSyncExternalStore } from 'react';

export interface Person {
  id: string;
  handle: string;
  displayName: string;
  accessToken: string;
  /** Null for a token that was pasted in. */
  accessTokenExpiresAt: string | null;
  refreshToken: string | null;
}

export interface Session {
  people: Person[];
  actingHandle: string | null;
  /** The last thing worth telling, shown in the account bar. */
  notice: string;
}

const KEY = 'kith:session';
const NOBODY: Session = { people: [], actingHandle: null, notice: '' };

let session = load();
const listeners = new Set<() => void>();

function load(): Session {
  try {
    return { ...NOBODY, ...JSON.parse(sessionStorage.getItem(KEY) ?? '{}') };
  } catch {
    return NOBODY;
  }
}

function change(next: Partial<Session>) {
  session = { ...session, ...next };
  sessionStorage.setItem(KEY, JSON.stringify(session));
  listeners.forEach((listener) => listener());
}

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const everyone = (): Person[] => session.people;

export function actingPerson(): Person | null {
  return session.people.find((person) => person.handle === session.actingHandle) ?? null;
}

/** Adds a person, or puts new tokens in place of the old, and acts as them. */
export function signIn(person: Person) {
  keep(person);
  change({ actingHandle: person.handle, notice: `${person.displayName} is signed in.` });
}

/** Puts new tokens in place of the old. */
export function keep(person: Person) {
  const isNew = !session.people.some(({ handle }) => handle === person.handle);
  change({
    people: isNew
      ? [...session.people, person]
      : session.people.map((old) => (old.handle === person.handle ? person : old)),
  });
}

export function actAs(handle: string | null) {
  const person = session.people.find((candidate) => candidate.handle === handle);
  change({
    actingHandle: person?.handle ?? null,
    notice: person ? `Acting as ${person.displayName}.` : 'Acting as nobody: operations carry no token.',
  });
}

export function forget(handle: string, notice: string) {
  change({
    people: session.people.filter((person) => person.handle !== handle),
    actingHandle: session.actingHandle === handle ? null : session.actingHandle,
    notice,
  });
}

export const tell = (notice: string) => change({ notice });
