// Opening FollowUser after a look-up fills in the id that was found, so that nobody has to carry it over.
// Never: changing variables that somebody has written.
import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';
import { ID_TO_COME } from './operations';
import { lastLookedUpId } from './progress';

export function FillInUserId() {
  const editor = useGraphiQL((state) => state.variableEditor);
  const activeTab = useGraphiQL((state) => state.activeTabIndex);
  useEffect(() => {
    const id = lastLookedUpId();
    const text = editor?.getValue();
    if (id && text?.includes(`"${ID_TO_COME}"`)) editor?.setValue(text.replace(ID_TO_COME, id));
  }, [editor, activeTab]);
  return null;
}
