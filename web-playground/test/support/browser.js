// A Chromium that reaches one origin and nothing else, and a record of what it tried.
// Never: anything about the playground.
import { chromium } from 'playwright-core';

const ARGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

export async function openBrowser(origin) {
  const browser = await chromium.launch({
    executablePath: process.env.KITH_CHROMIUM ?? process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    chromiumSandbox: process.getuid?.() !== 0, // Chromium's sandbox does not start as root.
    args: ARGS,
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' });
  const outsideRequests = [];
  const pageErrors = [];
  const isInside = (url) => url.origin === origin || ['data:', 'blob:'].includes(url.protocol);

  await context.route(
    (url) => !isInside(url),
    (route) => route.abort(),
  );
  context.on('request', (request) => {
    if (!isInside(new URL(request.url()))) outsideRequests.push(request.url());
  });
  const page = await context.newPage();
  page.on('websocket', (socket) => {
    const { host } = new URL(socket.url());
    if (host !== new URL(origin).host) outsideRequests.push(socket.url());
  });
  page.on('pageerror', (error) => pageErrors.push(error.stack));
  page.on('console', (message) => {
    const isRefusal = message.text().includes('status of 401'); // A test pastes a token that is none.
    if (message.type() === 'error' && !isRefusal) pageErrors.push(message.text());
  });
  return { page, outsideRequests, pageErrors, close: () => browser.close() };
}
