// All URLs are relative to the page, so that the page works with any host and path prefix.
const page = document.baseURI;

export const graphqlURL = new URL('graphql', page).href;

/** Returns the URL of a path of the gateway, such as /hcs/1/0.0.4007. */
export const fileURL = (path) => new URL(path.slice(1), page).href;

export const examplesURL = new URL('graphiql/examples.json', page).href;

export const socketURL = graphqlURL.replace(/^http/, 'ws');

/**
 * @param {string} path A REST path with its query string.
 * @returns {string} The URL that returns the GraphQL document of the path.
 */
export function explainURL(path) {
  const url = new URL('graphql/explain', page);
  url.searchParams.set('path', path);
  return url.href;
}
