// The playground as a person works it: steps, tabs, the run button, the account bar.
// Found by role and label, so that what the tests can reach a screen reader can reach too. Never: assertions.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser } from './browser.js';
import { until } from './until.js';

const pictures = fileURLToPath(new URL('../../test-results/', import.meta.url));

export async function openPlayground(url) {
  const { page, outsideRequests, pageErrors, close } = await openBrowser(new URL(url).origin);
  const acting = page.getByLabel('Acting as');
  const tokenField = page.getByLabel('Access token', { exact: true });
  const runButton = page.getByRole('button', { name: /^Execute query/ });

  const model = (part) =>
    page.evaluate((name) => {
      const models = globalThis.__MONACO?.editor.getModels() ?? [];
      return models.find(({ uri }) => uri.path.includes(name))?.getValue() ?? '';
    }, part);
  const ready = () => until('the editors', async () => (await model('operation')) !== '' && runButton.isEnabled());

  /** GraphiQL writes down its tabs half a second after they change. */
  const stored = () =>
    until('the tabs to be stored', async () => {
      const { tabs, activeTabIndex } = JSON.parse(await page.evaluate(() => sessionStorage.getItem('graphiql:tabState')));
      const { query, variables } = tabs[activeTabIndex];
      return query === (await model('operation')) && variables === (await model('variables'));
    });

  async function run() {
    await runButton.click();
    const text = await until('a result', () => model('response'));
    const { data, errors } = JSON.parse(text);
    if (errors) throw new Error(`The operation failed: ${text}`);
    return data;
  }

  page.setDefaultTimeout(10_000);
  await page.goto(url);
  await ready();

  return {
    outsideRequests,
    pageErrors,
    close,
    run,

    /** Runs again until the data is as wanted: what follows from a mutation may come a moment later. */
    runUntil: (isWanted) =>
      until('the data wanted', async () => {
        const data = await run();
        return isWanted(data) && data;
      }),
    setUp: (step) => page.getByRole('button', { name: step }).click(),
    async openTab(name) {
      await page.getByRole('button', { name, exact: true }).click();
      // The open tab's own name ends in that of its close button.
      await page.getByRole('tab', { name: new RegExp(`^${name}\\b`), selected: true }).waitFor();
      await until(`${name} in the editor`, async () => (await model('operation')).includes(` ${name}(`));
    },
    tabs: () => page.getByRole('tab').allInnerTexts(),
    variables: () => model('variables'),
    variablesContain: (text) => until(`${text} in the variables`, async () => (await model('variables')).includes(text)),
    /** On the screen, whatever lines it takes there. */
    resultShows: (pattern) =>
      until(`${pattern} on the screen`, async () => {
        const lines = page.getByRole('region', { name: 'Result Window' }).locator('.view-lines');
        return pattern.test((await lines.innerText()).replace(/\s+/g, ' '));
      }),
    stepsDone: () => page.locator('.story li[data-done=true]').count(),
    schemaIsLoaded: () => page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).and(page.locator(':enabled')).waitFor(),

    actingAs: () => acting.inputValue(),
    actsAs: (handle) => until(`acting as ${handle}`, async () => (await acting.inputValue()) === handle),
    actAs: (handle) => acting.selectOption(handle),
    people: () => acting.locator('option').evaluateAll((options) => options.map((option) => option.value)),
    token: () => tokenField.inputValue(),
    notice: (pattern) => page.getByRole('status').filter({ hasText: pattern }).waitFor(),
    signOut: () => page.getByRole('button', { name: 'Sign out' }).click(),
    async pasteToken(token) {
      await tokenField.fill(token);
      await tokenField.press('Enter');
    },

    async reload() {
      await stored();
      await page.reload();
      await ready();
    },
    /** Makes the person's access token look as if it ended in a second, and loads the page anew. */
    async ageToken(handle) {
      await stored();
      await page.evaluate((who) => {
        const session = JSON.parse(sessionStorage.getItem('kith:session'));
        const person = session.people.find((candidate) => candidate.handle === who);
        person.accessTokenExpiresAt = new Date(Date.now() + 1000).toISOString();
        sessionStorage.setItem('kith:session', JSON.stringify(session));
      }, handle);
      await page.reload();
      await ready();
    },
    async picture(name, { width = 1280, height = 800, colorScheme = 'light' } = {}) {
      await mkdir(pictures, { recursive: true });
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${pictures}${name}.png`, animations: 'disabled' });
    },
  };
}
