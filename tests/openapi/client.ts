// Uses the generated types: tsc fails if the documents do not describe these responses.
import type { paths as Ledger } from './generated/v1/api.ts';
import type { paths as Status } from './generated/v2/api.ts';

type Body<P extends { get: { responses: { 200: { content: { 'application/json': unknown } } } } }> =
  P['get']['responses'][200]['content']['application/json'];

export const nextPage = (page: Body<Ledger['/accounts']>): string | null => page.links.next;
export const owners = (page: Body<Ledger['/accounts']>): (string | null)[] => page.accounts.map(({ account }) => account);
export const headline = (page: Body<Status['/status.json']>): string => `${page.page.name}: ${page.status.description}`;
