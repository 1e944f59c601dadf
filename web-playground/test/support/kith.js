// A Kith server for one test run: its own database, its own Redis database, its own port.
// Never: a server, database or key that something else uses.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createDatabase } from './database.js';
import { chooseRedis } from './redis.js';
import { until } from './until.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const built = fileURLToPath(new URL('../../dist/index.html', import.meta.url));
const binary = process.env.KITH_BIN ?? fileURLToPath(new URL('../../../target/debug/kith', import.meta.url));

/** Migrates, fills in the demo world if `demo` is true, and serves. Ends with `{ url, stop }` once the server answers. */
export async function startKith({ demo = false } = {}) {
  if (!existsSync(built)) throw new Error('There is no dist/ yet: run `npm run build` first.');
  const database = await createDatabase();
  try {
    const address = `127.0.0.1:${await freePort()}`;
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      REDIS_URL: await chooseRedis(),
      KITH_ADDR: address,
      KITH_SECRETS: `1:${randomBytes(32).toString('base64url')}`,
    };
    await finish(['migrate'], env);
    if (demo) await finish(['seed'], env);
    const server = await serve(env, `http://${address}`);
    const stop = async () => {
      await server.stop();
      await database.drop();
    };
    return { url: `http://${address}`, stop };
  } catch (error) {
    await database.drop();
    throw error;
  }
}

async function finish(command, env) {
  const { child, output } = run(command, env);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`kith ${command} ended with ${code}:\n${output()}`);
}

async function serve(env, url) {
  const { child, output } = run(['serve'], env);
  const exited = once(child, 'exit');
  let hasExited = false;
  exited.then(() => (hasExited = true));
  const stop = async () => {
    if (hasExited) return;
    child.kill('SIGTERM');
    const impatience = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await exited;
    clearTimeout(impatience);
  };
  try {
    await until('the server to answer', () => hasExited || answers(url));
    if (hasExited) throw new Error('kith serve ended by itself.');
  } catch (error) {
    await stop();
    throw new Error(`${error.message}\n${output()}`, { cause: error });
  }
  return { stop };
}

async function answers(url) {
  const body = JSON.stringify({ query: '{ __typename }' });
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  return response.ok;
}

function run(command, env) {
  const child = spawn(binary, command, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const keep = (chunk) => (text = (text + chunk).slice(-20_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.on('error', keep);
  return { child, output: () => text };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
