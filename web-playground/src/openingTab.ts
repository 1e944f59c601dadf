// What GraphiQL's editors hold first: the tab that was open before a reload, else the first example.
// Given to GraphiQL outright, because from its own storage it may restore the query without its variables
// and then opens one tab too many. Never: the other tabs, which GraphiQL restores well.

interface Tab {
  query: string | null;
  variables?: string | null;
}

const TABS_KEY = 'graphiql:tabState';

export function openingTab(examples: Tab[]) {
  const tab = storedTab() ?? examples[0];
  return { initialQuery: tab?.query ?? '', initialVariables: tab?.variables ?? '' };
}

function storedTab(): Tab | undefined {
  try {
    const { tabs, activeTabIndex } = JSON.parse(sessionStorage.getItem(TABS_KEY) ?? '{}');
    return tabs?.[activeTabIndex];
  } catch {
    return undefined;
  }
}
