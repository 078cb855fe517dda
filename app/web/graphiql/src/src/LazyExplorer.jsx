import { Spinner } from '@graphiql/react';
import { lazy, Suspense } from 'react';
import { editorReady } from './workers.js';

const LazyExplorer = lazy(async () => {
  await editorReady;
  const { Explorer } = await import('../node_modules/@graphiql/plugin-explorer/node_modules/graphiql-explorer');
  return { default: Explorer };
});

/** The explorer, loaded after the editor. */
export function Explorer(props) {
  return (
    <Suspense fallback={<Spinner />}>
      <LazyExplorer {...props} />
    </Suspense>
  );
}
