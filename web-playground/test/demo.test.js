// The demo world, looked at in a real browser; the newcomer's story is there beside it.
// Never: whether its people are believable.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startKith } from './support/kith.js';
import { openPlayground } from './support/playground.js';

let kith;
let playground;

before(async () => {
  kith = await startKith({ demo: true });
  playground = await openPlayground(kith.url);
});

after(async () => {
  await playground?.close();
  await kith?.stop();
});

test('the names of the story are free', async () => {
  assert.match(await playground.variables(), /"handle": "ada"/);
  await playground.setUp('Ada signs up');
  const { signUp } = await playground.run();
  assert.equal(signUp.viewer.user.handle, 'ada');
});

test('one logs in as somebody and reads their feed', async () => {
  for (const [name, handle] of [
    ['Jonas Weber', 'jonas_demo'],
    ['Grace Bennett', 'grace_demo'],
  ]) {
    await playground.setUp(`Log in as ${name}`);
    await playground.run();
    await playground.actsAs(handle);
    await playground.setUp(`Read the feed of ${name}`);
    const { feed } = await playground.run();
    assert.equal(feed.nodes.length, 10);
    assert.equal(feed.pageInfo.hasNextPage, true);
  }
  assert.deepEqual(await playground.people(), ['', 'ada', 'jonas_demo', 'grace_demo']);
  await playground.picture('5-demo-feed', { width: 1440, height: 900 });
});

test('nothing went wrong in the page', () => {
  assert.deepEqual(playground.outsideRequests, []);
  assert.deepEqual(playground.pageErrors, []);
});
