// Where the page starts: the workers, the styles, the app.
// Never: anything that a test or a component would want to import.
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './style.css';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { chooseCast } from './story/cast';

// The first steps take a quarter of the width until somebody drags their edge.
if (!sessionStorage.getItem('graphiql:docExplorerFlex')) sessionStorage.setItem('graphiql:docExplorerFlex', '0.3');

const root = createRoot(document.getElementById('root')!);
chooseCast().then((cast) => root.render(<App cast={cast} />));
