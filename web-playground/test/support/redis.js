// An empty logical Redis database for one test run; all of Kith's tests take turns through one counter.
// Never: database 0, which holds the counter.
import { createClient } from 'redis';

const DATABASES = 1023;

/** The URL of the database chosen, which has been emptied. */
export async function chooseRedis() {
  const url = process.env.KITH_TEST_REDIS_URL;
  if (!url) throw new Error('Set KITH_TEST_REDIS_URL to a Redis with 1024 databases.');
  const client = createClient({ ...place(new URL(url)), database: 0 });
  await client.connect();
  try {
    const number = ((await client.incr('kith-test:next-database')) % DATABASES) + 1;
    await client.select(number);
    await client.flushDb();
    return numbered(new URL(url), number);
  } finally {
    await client.close();
  }
}

const isSocket = (url) => /unix/.test(url.protocol);

function place(url) {
  if (isSocket(url)) return { socket: { path: decodeURIComponent(url.pathname) } };
  url.pathname = '';
  return { url: url.href };
}

function numbered(url, number) {
  if (isSocket(url)) url.searchParams.set('db', number);
  else url.pathname = `/${number}`;
  return url.href;
}
