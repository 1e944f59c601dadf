// Waiting for a condition, with a limit.
// Never: waiting for a time to pass.
import { setTimeout as pause } from 'node:timers/promises';

/** Asks again until the answer is truthy; an error counts as not yet. */
export async function until(what, ask, limitMs = 30_000) {
  const end = Date.now() + limitMs;
  let lastError;
  while (Date.now() < end) {
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      lastError = error;
    }
    await pause(50);
  }
  throw new Error(`Waited ${limitMs} ms in vain for ${what}.`, { cause: lastError });
}
