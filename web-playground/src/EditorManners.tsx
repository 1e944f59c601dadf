// How the editors behave here: smaller type, long lines wrapped, colours that follow the system while the page is open.
// Never: what the editors hold.
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';

const OPTIONS = {
  fontSize: 13,
  lineNumbersMinChars: 2,
  lineDecorationsWidth: 2,
  wordWrap: 'on',
  wrappingIndent: 'indent',
} as const;

export function EditorManners() {
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const headers = useGraphiQL((state) => state.headerEditor);
  const response = useGraphiQL((state) => state.responseEditor);

  useEffect(() => {
    for (const editor of [query, variables, headers, response]) {
      editor?.updateOptions(OPTIONS);
    }
  }, [query, variables, headers, response]);

  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => theme ?? setTheme(null);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [theme, setTheme]);

  return null;
}
