import codicon from 'monaco-editor/esm/vs/base/browser/ui/codicons/codicon/codicon.ttf?url';
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

/**
 * The editor works without its workers and the schema, which are therefore loaded after it, as are its icons: the promise resolves when the editor is ready, and markReady
 * resolves it.
 */
export let markReady;
export const editorReady = new Promise((resolve) => {
  markReady = resolve;
});

const WORKERS = { json: JsonWorker, graphql: GraphQLWorker };

globalThis.MonacoEnvironment = {
  async getWorker(_id, label) {
    await editorReady;
    return new (WORKERS[label] ?? EditorWorker)();
  },
};

editorReady.then(() => document.fonts.add(new FontFace('codicon', `url(${codicon})`)));
