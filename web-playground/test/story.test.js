// The newcomer's story, walked through in a real browser against a real server, with no network but that server.
// Never: how the server is started (support/kith.js), how the page is worked (support/playground.js).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startKith } from './support/kith.js';
import { openPlayground } from './support/playground.js';

const POST = /loom weaves flowers and leaves/;

let kith;
let playground;

before(async () => {
  kith = await startKith();
  playground = await openPlayground(kith.url);
});

after(async () => {
  await playground?.close();
  await kith?.stop();
});

test('opens with the example operations as tabs, and nobody signed in', async () => {
  assert.deepEqual(await playground.tabs(), ['SignUp', 'LogIn', 'UserByHandle', 'FollowUser', 'PostMessage', 'Feed']);
  assert.equal(await playground.actingAs(), '');
  assert.match(await playground.variables(), /"handle": "ada"/);
  await playground.schemaIsLoaded();
  await playground.picture('1-first-visit');
});

test('Ada signs up and is signed in', async () => {
  await playground.setUp('Ada signs up');
  const { signUp } = await playground.run();
  assert.equal(signUp.viewer.user.handle, 'ada');
  assert.equal(await playground.actingAs(), 'ada');
  assert.equal(await playground.token(), signUp.tokens.accessToken);
  await playground.picture('2-ada-signed-up');
});

test('Ben signs up beside her', async () => {
  await playground.setUp('Ben signs up');
  const { signUp } = await playground.run();
  assert.equal(signUp.viewer.user.handle, 'ben');
  assert.equal(await playground.actingAs(), 'ben');
  assert.deepEqual(await playground.people(), ['', 'ada', 'ben']);
});

test('Ben looks Ada up and follows her by the id that was found', async () => {
  await playground.setUp('Ben looks Ada up');
  const { user } = await playground.run();
  assert.equal(user.handle, 'ada');
  assert.equal(user.viewerFollows, false);

  await playground.openTab('FollowUser');
  await playground.variablesContain(user.id);
  const { followUser } = await playground.run();
  assert.equal(followUser.user.handle, 'ada');
  assert.equal(followUser.user.viewerFollows, true);
  await playground.picture('3-ben-follows-ada');
});

test('Ada posts', async () => {
  await playground.actAs('ada');
  await playground.openTab('PostMessage');
  const { postMessage } = await playground.run();
  assert.match(postMessage.message.content, POST);
  assert.equal(postMessage.message.author.handle, 'ada');
});

test("Ben's feed shows it", async () => {
  await playground.setUp('Ben reads his feed');
  const { feed } = await playground.runUntil(({ feed }) => feed.nodes.length > 0);
  assert.match(feed.nodes[0].content, POST);
  assert.equal(feed.nodes[0].author.handle, 'ada');
  await playground.resultShows(POST);
  assert.equal(await playground.stepsDone(), 6);
  await playground.picture('4-feed');
  await playground.picture('4-feed-large', { width: 1440, height: 900 });
  await playground.picture('4-feed-dark', { colorScheme: 'dark' });
});

test('a reload keeps the people, the token and the tab', async () => {
  const token = await playground.token();
  const tabs = await playground.tabs();
  await playground.reload();
  assert.deepEqual(await playground.tabs(), tabs);
  assert.match(await playground.variables(), /"first": 10/);
  assert.equal(await playground.actingAs(), 'ben');
  assert.deepEqual(await playground.people(), ['', 'ada', 'ben']);
  assert.equal(await playground.token(), token);
  const { feed } = await playground.run();
  assert.match(feed.nodes[0].content, POST);
});

test('a token about to end is renewed before it is used', async () => {
  const token = await playground.token();
  await playground.ageToken('ben');
  const { feed } = await playground.run();
  assert.match(feed.nodes[0].content, POST);
  assert.notEqual(await playground.token(), token);
});

test('signing out forgets the token; logging in gives a new one', async () => {
  await playground.actAs('ada');
  const token = await playground.token();
  await playground.signOut();
  assert.equal(await playground.actingAs(), '');
  assert.equal(await playground.token(), '');
  assert.deepEqual(await playground.people(), ['', 'ben']);

  await playground.openTab('LogIn');
  const { logIn } = await playground.run();
  assert.equal(logIn.viewer.user.handle, 'ada');
  assert.equal(await playground.actingAs(), 'ada');
  assert.notEqual(await playground.token(), token);
});

test('a pasted token acts as whoever holds it', async () => {
  const token = await playground.token();
  await playground.actAs('');
  assert.equal(await playground.token(), '');
  await playground.pasteToken(`Bearer ${token}`);
  await playground.actsAs('ada');
  await playground.pasteToken('not a token');
  await playground.notice(/does not know that token/);
  assert.equal(await playground.actingAs(), 'ada');
});

test('nothing but the server was asked for anything, and nothing went wrong in the page', () => {
  assert.deepEqual(playground.outsideRequests, []);
  assert.deepEqual(playground.pageErrors, []);
});
