// The page: the account bar above, GraphiQL below, the first steps beside it.
// Never: requests (api/), tokens (session/), the text of the examples (story/).
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { fetcher } from './api/fetcher';
import { AccountBar } from './bar/AccountBar';
import type { Cast } from './story/cast';
import { CastContext } from './story/cast';
import { exampleTabs } from './story/operations';
import { FillInUserId } from './story/FillInUserId';
import { storyPlugin } from './story/StoryPanel';

const plugins = [storyPlugin, HISTORY_PLUGIN];
const customScalarSchemas = { JSON: {}, DateTime: { type: 'string' as const, format: 'date-time' } };

export function App({ cast }: { cast: Cast }) {
  const tabs = exampleTabs(cast);
  // GraphiQL fills the first tab's variables from these, and only on a first visit may we give them.
  const isFirstVisit = sessionStorage.getItem('graphiql:tabState') === null;
  const first = isFirstVisit ? { initialQuery: tabs[0]?.query, initialVariables: tabs[0]?.variables } : {};
  return (
    <CastContext value={cast}>
      <AccountBar />
      <main>
        <GraphiQL
          {...first}
          fetcher={fetcher}
          storage={sessionStorage}
          defaultTabs={tabs}
          plugins={plugins}
          visiblePlugin={storyPlugin.title}
          defaultEditorToolsVisibility="variables"
          customScalarSchemas={customScalarSchemas}
          inputValueDeprecation
          schemaDescription
        >
          <GraphiQL.Logo>
            <></>
          </GraphiQL.Logo>
          <FillInUserId />
        </GraphiQL>
      </main>
    </CastContext>
  );
}
