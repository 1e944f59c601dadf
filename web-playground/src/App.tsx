// The page: the account bar above, GraphiQL below, the first steps beside it.
// Never: requests (api/), tokens (session/), the text of the examples (story/).
import { GraphiQL, HISTORY_PLUGIN } from 'graphiql';
import { fetcher } from './api/fetcher';
import { AccountBar } from './bar/AccountBar';
import type { Cast } from './story/cast';
import { CastContext } from './story/cast';
import { exampleTabs } from './story/operations';
import { EditorManners } from './EditorManners';
import { openingTab } from './openingTab';
import { FillInUserId } from './story/FillInUserId';
import { storyPlugin } from './story/StoryPanel';

const plugins = [storyPlugin, HISTORY_PLUGIN];
const customScalarSchemas = { JSON: {}, DateTime: { type: 'string' as const, format: 'date-time' } };

export function App({ cast }: { cast: Cast }) {
  const tabs = exampleTabs(cast);
  return (
    <CastContext value={cast}>
      <AccountBar />
      <main>
        <GraphiQL
          {...openingTab(tabs)}
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
          <EditorManners />
          <FillInUserId />
        </GraphiQL>
      </main>
    </CastContext>
  );
}
