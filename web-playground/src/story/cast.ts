// Who the examples are about: Ada and Ben, under handles that are free on this server.
// Never: what they do (operations.ts, steps.ts).
import { createContext } from 'react';
import { post } from '../api/post';

export interface Character {
  handle: string;
  displayName: string;
  password: string;
  bio: string;
}

export interface Cast {
  ada: Character;
  ben: Character;
}

export const CastContext = createContext<Cast>(castNamed('ada', 'ben'));

const KEY = 'kith:cast';

/** The cast of this browser session. Handles that somebody has taken already get a short ending. */
export async function chooseCast(): Promise<Cast> {
  const stored = sessionStorage.getItem(KEY);
  if (stored) return JSON.parse(stored) as Cast;
  const ending = (await isTaken()) ? `_${Math.random().toString(36).slice(2, 6).padEnd(4, '0')}` : '';
  const cast = castNamed(`ada${ending}`, `ben${ending}`);
  sessionStorage.setItem(KEY, JSON.stringify(cast));
  return cast;
}

function castNamed(ada: string, ben: string): Cast {
  return {
    ada: {
      handle: ada,
      displayName: 'Ada Lovelace',
      password: 'tea with Mary at noon',
      bio: 'Writes for engines to come.',
    },
    ben: {
      handle: ben,
      displayName: 'Ben Okafor',
      password: 'a bicycle in the rain',
      bio: 'Reads more than he writes.',
    },
  };
}

async function isTaken(): Promise<boolean> {
  const query = 'query AreTheseTaken { ada: user(handle: "ada") { id } ben: user(handle: "ben") { id } }';
  try {
    const { data } = await post({ query }, null);
    return !!(data?.ada || data?.ben);
  } catch {
    return false;
  }
}
