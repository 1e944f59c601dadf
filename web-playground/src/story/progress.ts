// What of the story has happened: the steps done, and the ids that answers have shown.
// Never: tokens (session/).
import { useSyncExternalStore } from 'react';
import type { GraphQLAnswer, GraphQLRequest } from '../api/post';
import { actingPerson, everyone } from '../session/store';

interface Progress {
  /** Step ids. */
  done: string[];
  /** Handle to id. */
  ids: Record<string, string>;
  lastLookedUp: string | null;
}

const KEY = 'kith:progress';
const NONE: Progress = { done: [], ids: {}, lastLookedUp: null };

let progress: Progress = { ...NONE, ...JSON.parse(sessionStorage.getItem(KEY) ?? '{}') };
const listeners = new Set<() => void>();

export function useProgress(): Progress {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => progress,
  );
}

export function knownId(handle: string): string | undefined {
  return progress.ids[handle] ?? everyone().find((person) => person.handle === handle)?.id;
}

export const lastLookedUpId = () => progress.lastLookedUp;

export function noteProgress({ operationName, variables }: GraphQLRequest, { data, errors }: GraphQLAnswer) {
  if (errors?.length || !data || !operationName) return;
  const signedIn = (variables as { input?: { handle?: string } } | undefined)?.input?.handle;
  const who = ['SignUp', 'LogIn'].includes(operationName) ? signedIn : actingPerson()?.handle;
  const step = `${operationName}:${who}`;
  const found = data.user as { id?: string; handle?: string } | null | undefined;
  const isNamed = found?.id && found.handle;
  progress = {
    done: progress.done.includes(step) ? progress.done : [...progress.done, step],
    ids: isNamed ? { ...progress.ids, [found.handle!]: found.id! } : progress.ids,
    lastLookedUp: found?.id ?? progress.lastLookedUp,
  };
  sessionStorage.setItem(KEY, JSON.stringify(progress));
  listeners.forEach((listener) => listener());
}
