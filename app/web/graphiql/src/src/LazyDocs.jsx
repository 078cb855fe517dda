import { Spinner } from '@graphiql/react';
import { lazy, Suspense } from 'react';
import { editorReady } from './workers.js';

const Docs = lazy(async () => {
  await editorReady;
  const { DocExplorer } = await import('../node_modules/@graphiql/plugin-doc-explorer/dist/components/doc-explorer.js');
  return { default: DocExplorer };
});

/** GraphiQL's documentation panel, loaded after the editor. */
export function DocExplorer() {
  return (
    <Suspense fallback={<Spinner />}>
      <Docs />
    </Suspense>
  );
}
