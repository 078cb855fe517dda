// Every address is a sibling of the page, so that the page works under any host and path prefix.
const page = document.baseURI;

export const graphqlURL = new URL('graphql', page).href;
export const examplesURL = new URL('graphiql/examples.json', page).href;

export const socketURL = graphqlURL.replace(/^http/, 'ws');

/**
 * @param {string} path A REST path with its query string.
 * @returns {string} The address that answers with the GraphQL document this path runs.
 */
export function explainURL(path) {
  const url = new URL('graphql/explain', page);
  url.searchParams.set('path', path);
  return url.href;
}
