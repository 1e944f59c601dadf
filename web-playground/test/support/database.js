// A fresh Postgres database for one test run.
// Never: tables; `kith migrate` makes those.
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export async function createDatabase() {
  const adminUrl = process.env.KITH_TEST_DATABASE_URL;
  if (!adminUrl) throw new Error('Set KITH_TEST_DATABASE_URL to a Postgres whose user may create databases.');
  const name = `kith_web_${randomBytes(6).toString('hex')}`;
  await asAdmin(adminUrl, `CREATE DATABASE ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function asAdmin(connectionString, statement) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
