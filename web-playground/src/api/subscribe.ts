// A subscription, over the WebSocket that the server offers at /graphql (graphql-transport-ws).
// Loaded with the first subscription. Never: queries and mutations (post.ts).
import type { GraphiQLProps } from 'graphiql';
import type { ExecutionResult } from 'graphql';
import type { Sink, SubscribePayload } from 'graphql-ws';
import type { GraphQLRequest } from './post';

type Observable = Extract<Awaited<ReturnType<GraphiQLProps['fetcher']>>, { subscribe: unknown }>;

/** What GraphiQL listens to; the connection closes when it stops listening. */
export async function subscribe({ query, variables, operationName }: GraphQLRequest, token: string | null) {
  const { createClient } = await import('graphql-ws');
  const client = createClient({
    url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    connectionParams: token ? { Authorization: `Bearer ${token}` } : undefined,
    retryAttempts: 0,
  });
  const payload = { query, variables, operationName } as SubscribePayload;
  return {
    subscribe(listener: Sink<ExecutionResult>) {
      const error = (problem: unknown) => listener.error(problem instanceof CloseEvent ? closed(problem) : problem);
      const unsubscribe = client.subscribe(payload, { ...listener, error } as Sink);
      return { unsubscribe };
    },
  } as Observable;
}

const closed = ({ code, reason }: CloseEvent) => new Error(`The server closed the connection: ${code} ${reason}`);
