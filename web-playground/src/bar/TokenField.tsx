// The access token of whoever acts; another can be typed or pasted in its place.
// Never: checking a token (session/learn.ts asks the server).
import { type ClipboardEvent, type FormEvent, useId, useState } from 'react';
import { adopt } from '../session/learn';
import { type Person, tell } from '../session/store';

export function TokenField({ acting }: { acting: Person | null }) {
  const id = useId();
  const held = acting?.accessToken ?? '';
  const [text, setText] = useState(held);

  async function use(token: string) {
    const bare = token.trim().replace(/^Bearer\s+/i, '');
    setText(bare);
    if (bare && bare !== held && !(await adopt({ accessToken: bare }))) setText(held);
  }
  function paste(event: ClipboardEvent<HTMLInputElement>) {
    event.preventDefault();
    void use(event.clipboardData.getData('text'));
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    void use(text);
  }
  async function copy() {
    await navigator.clipboard.writeText(held);
    tell('The access token is copied.');
  }

  return (
    <form className="field" onSubmit={submit}>
      <label htmlFor={id}>Access token</label>
      <span className="token">
        <input
          id={id}
          value={text}
          placeholder="none: paste one here"
          title={expiry(acting)}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onFocus={(event) => event.target.select()}
          onPaste={paste}
        />
        <button type="button" className="button" disabled={!held} onClick={copy} aria-label="Copy the access token">
          Copy
        </button>
      </span>
    </form>
  );
}

function expiry(acting: Person | null): string {
  if (!acting?.accessTokenExpiresAt) return 'Paste an access token to act as whoever holds it.';
  const until = new Date(acting.accessTokenExpiresAt).toLocaleTimeString();
  return `Good until ${until}, then renewed.`;
}
