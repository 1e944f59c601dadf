// The bar above GraphiQL: who is acting, with which token, and the way out.
// Never: how tokens are got or kept (session/).
import mark from '../mark.svg';
import { signOut } from '../session/signOut';
import { actAs, useSession } from '../session/store';
import { TokenField } from './TokenField';

export function AccountBar() {
  const { people, actingHandle, notice } = useSession();
  const acting = people.find((person) => person.handle === actingHandle) ?? null;
  return (
    <header className="bar">
      <h1 className="bar-title">
        <img src={mark} alt="" width="28" height="28" />
        Kith <span>playground</span>
      </h1>
      <p className="bar-notice" role="status" title={notice}>
        {notice || 'Sign up or log in: the token is kept for you.'}
      </p>
      <label className="field">
        <span>Acting as</span>
        <span className="person">
          <span className="avatar" aria-hidden="true" data-nobody={acting === null}>
            {acting?.displayName[0]?.toUpperCase() ?? '–'}
          </span>
          <select value={actingHandle ?? ''} onChange={(event) => actAs(event.target.value || null)}>
            <option value="">Nobody (signed out)</option>
            {people.map(({ handle, displayName }) => (
              <option key={handle} value={handle}>
                {displayName} (@{handle})
              </option>
            ))}
          </select>
        </span>
      </label>
      <TokenField key={acting?.accessToken} acting={acting} />
      <button type="button" className="button" disabled={!acting} onClick={() => acting && signOut(acting)}>
        Sign out
      </button>
    </header>
  );
}
