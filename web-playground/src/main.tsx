// Where the page starts: the workers, the styles, the app.
// Never: anything that a test or a component would want to import.
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './style.css';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { chooseCast } from './story/cast';

// How the panes share the room until somebody drags an edge: the first steps narrow, the variables in full.
for (const [pane, share] of [
  ['docExplorerFlex', '0.26'],
  ['secondaryEditorFlex', '2'],
]) {
  const key = `graphiql:${pane}`;
  if (sessionStorage.getItem(key) === null) sessionStorage.setItem(key, share!);
}

const root = createRoot(document.getElementById('root')!);
chooseCast().then((cast) => root.render(<App cast={cast} />));
