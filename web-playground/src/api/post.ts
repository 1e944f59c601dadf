// One GraphQL request over HTTP, and what came back.
// Never: whose token it is (session/), nor any address but /graphql.

export interface GraphQLRequest {
  query: string;
  variables?: unknown;
  operationName?: string | null;
}

export interface GraphQLAnswer {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

const ACCEPT = 'application/graphql-response+json, application/json;q=0.9';

export async function post(
  request: GraphQLRequest,
  token: string | null,
  extraHeaders: Record<string, string> = {},
): Promise<GraphQLAnswer> {
  const headers = new Headers({ Accept: ACCEPT, 'Content-Type': 'application/json' });
  if (token) headers.set('Authorization', `Bearer ${token}`);
  for (const [name, value] of Object.entries(extraHeaders)) headers.set(name, value);

  const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify(request) });
  const text = await response.text();
  try {
    return JSON.parse(text) as GraphQLAnswer;
  } catch {
    throw new Error(`The server answered ${response.status} ${response.statusText}: ${text.slice(0, 300)}`);
  }
}

/** True when the server did not run the request because it does not accept the token. */
export function tokenWasRefused({ data, errors }: GraphQLAnswer): boolean {
  return data === undefined && !!errors?.some((error) => error.extensions?.code === 'UNAUTHENTICATED');
}
