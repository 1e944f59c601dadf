// Who the examples are about: Ada and Ben, under handles that are free on this server; and whom one can look around as,
// if it has the demo world.
// Never: what they do (operations.ts, steps.ts).
import { createContext } from 'react';
import { post } from '../api/post';

export interface Character {
  handle: string;
  displayName: string;
  password: string;
  bio: string;
}

/** Somebody of the demo world. */
export type Guest = Pick<Character, 'handle' | 'displayName' | 'password'>;

export interface Cast {
  ada: Character;
  ben: Character;
  /** Empty where there is no demo world. */
  guests: Guest[];
}

export const CastContext = createContext<Cast>(castNamed('ada', 'ben'));

const KEY = 'kith:cast';

/** Of the demo world, as `kith seed` makes and prints them: everybody in it has this password. */
const GUESTS = ['grace_demo', 'jonas_demo', 'yuki_demo'];
const GUEST_PASSWORD = 'kith-demo-world';

/** The cast of this browser session. Handles that somebody has taken already get a short ending. */
export async function chooseCast(): Promise<Cast> {
  const stored = sessionStorage.getItem(KEY);
  if (stored) return { guests: [], ...JSON.parse(stored) } as Cast;
  const known = await whoIsKnown(['ada', 'ben', ...GUESTS]);
  const isTaken = known.some(({ handle }) => !GUESTS.includes(handle));
  const ending = isTaken ? `_${Math.random().toString(36).slice(2, 6).padEnd(4, '0')}` : '';
  const guests = known.filter(({ handle }) => GUESTS.includes(handle));
  const cast = {
    ...castNamed(`ada${ending}`, `ben${ending}`),
    guests: guests.map((guest) => ({ ...guest, password: GUEST_PASSWORD })),
  };
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
    guests: [],
  };
}

async function whoIsKnown(handles: string[]): Promise<{ handle: string; displayName: string }[]> {
  const fields = handles.map((handle) => `${handle}: user(handle: "${handle}") { handle displayName }`);
  try {
    const { data } = await post({ query: `query WhoIsKnown { ${fields.join(' ')} }` }, null);
    return Object.values(data ?? {}).filter((user) => user !== null) as { handle: string; displayName: string }[];
  } catch {
    return [];
  }
}
