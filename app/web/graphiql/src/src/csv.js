import { graphqlURL } from './endpoints.js';
import { chosenOperation } from './operation.js';

/**
 * Saves all rows of the only list of an operation as a CSV file. Fails with the message of the server.
 * @param {import('./documents.js').Tab & { headers: string }} tab
 */
export async function downloadCSV({ query, variables, operationName: selected, headers }) {
  const { operationName } = chosenOperation({ query, operationName: selected });
  const response = await fetch(graphqlURL, {
    method: 'POST',
    headers: { ...JSON.parse(headers || '{}'), accept: 'text/csv', 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: JSON.parse(variables || '{}'), operationName }),
  });
  if (!response.headers.get('content-type')?.startsWith('text/csv')) {
    throw new Error(await response.text());
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = /filename="([^"]+)"/.exec(response.headers.get('content-disposition'))?.[1] ?? 'rows.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
