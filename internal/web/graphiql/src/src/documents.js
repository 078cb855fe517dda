import { examplesURL, explainURL } from './endpoints.js';

/**
 * A document as the editors show it.
 * @typedef {{ query: string, variables: string, operationName: string | null }} Tab
 */

const REQUEST_TIMEOUT_MS = 20_000;

/** Lays JSON out for reading; text that is not JSON stays as it is, so that the editor can point at the mistake. */
function prettyJSON(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function getJSON(url) {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  let body = null;
  try {
    body = await response.json();
  } catch {
    // A body that is not JSON (a proxy's error page) says nothing better than the status does.
  }
  return { response, body };
}

/**
 * @returns {Promise<{ name: string, title: string, tab: Tab }[]>} The example documents; empty when they cannot be
 *   had, because the page is of use without them.
 */
export async function loadExamples() {
  try {
    const { response, body } = await getJSON(examplesURL);
    if (!response.ok || !Array.isArray(body)) {
      return [];
    }
    return body.map(({ name, title, query, variables }) => ({
      name,
      title,
      tab: { query, variables: variables ? JSON.stringify(variables, null, 2) : '', operationName: null },
    }));
  } catch {
    return [];
  }
}

/**
 * Takes what people paste for a REST call: a path, a full address, with or without a method, quotes or curl in front.
 * @param {string} text
 * @returns {string} The path and query string; empty when there is none.
 */
export function restPath(text) {
  const words = text.trim().split(/\s+/).map((word) => word.replace(/^['"]+|['"]+$/g, ''));
  const target = words.find((word) => /^(https?:\/\/|\/)/i.test(word)) ?? words[words.length - 1];
  if (!target) {
    return '';
  }
  if (/^https?:\/\//i.test(target)) {
    const withoutOrigin = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/, '');
    return withoutOrigin.startsWith('/') ? withoutOrigin : `/${withoutOrigin}`;
  }
  const path = target.replace(/#.*$/, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Asks the gateway which document a REST path runs.
 * @param {string} path
 * @returns {Promise<Tab>}
 * @throws {Error} with a message for the reader.
 */
export async function explain(path) {
  let answer;
  try {
    answer = await getJSON(explainURL(path));
  } catch (error) {
    throw new Error(
      error.name === 'TimeoutError' ? 'The gateway did not answer in time.' : 'The gateway could not be reached.',
    );
  }
  const { response, body } = answer;
  if (typeof body?.error === 'string') {
    throw new Error(body.error);
  }
  if (!response.ok || typeof body?.query !== 'string') {
    throw new Error(`The gateway could not explain this path (HTTP status ${response.status}).`);
  }
  const variables = body.variables && Object.keys(body.variables).length > 0 ? body.variables : null;
  return {
    query: body.query,
    variables: variables ? JSON.stringify(variables, null, 2) : '',
    operationName: body.operationName || null,
  };
}

/**
 * Reads a link of the form ?query=…&variables=…&operationName=… or ?rest=….
 * @param {string} search
 * @returns {Promise<{ tab: Tab | null, rest: { path: string, error: string } | null }>} The tab to open, or what was
 *   wrong with the REST path.
 */
export async function readLink(search) {
  const parameters = new URLSearchParams(search);
  const query = parameters.get('query');
  if (query) {
    const tab = {
      query,
      variables: prettyJSON(parameters.get('variables') ?? ''),
      operationName: parameters.get('operationName') || null,
    };
    return { tab, rest: null };
  }
  const path = restPath(parameters.get('rest') ?? '');
  if (!path) {
    return { tab: null, rest: null };
  }
  try {
    return { tab: await explain(path), rest: null };
  } catch (error) {
    return { tab: null, rest: { path, error: error.message } };
  }
}

/**
 * @param {Tab} tab
 * @returns {string} The address that opens the tab.
 */
export function linkTo({ query, variables, operationName }) {
  const url = new URL(location.pathname, location.origin);
  url.searchParams.set('query', query);
  if (variables.trim()) {
    url.searchParams.set('variables', variables);
  }
  if (operationName) {
    url.searchParams.set('operationName', operationName);
  }
  return url.href;
}
