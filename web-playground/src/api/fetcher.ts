// What GraphiQL calls to run an operation: sent as the acting person, and its answer looked at for tokens.
// Never: markup, storage.
import type { GraphiQLProps } from 'graphiql';
import { type ExecutionResult, Kind, type OperationDefinitionNode, OperationTypeNode, parse } from 'graphql';
import { learnFrom } from '../session/learn';
import { liveToken, renew } from '../session/refresh';
import { actingPerson } from '../session/store';
import { noteProgress } from '../story/progress';
import { post, tokenWasRefused } from './post';
import { subscribe } from './subscribe';

type Fetcher = GraphiQLProps['fetcher'];

export const fetcher: Fetcher = async ({ query, variables, operationName }, options) => {
  const operation = chosenOperation(query, operationName);
  const request = { query, variables, operationName: operation?.name?.value ?? operationName };
  if (operation?.operation === OperationTypeNode.SUBSCRIPTION) return subscribe(request, await liveToken());
  const headers = options?.headers as Record<string, string> | undefined;

  let answer = await post(request, await liveToken(), headers);
  const refused = actingPerson();
  if (refused && tokenWasRefused(answer)) {
    await renew(refused);
    answer = await post(request, await liveToken(), headers);
  }
  if (operation) {
    await learnFrom(operation, answer);
    noteProgress(request, answer);
  }
  return answer as ExecutionResult;
};

/** GraphiQL learns a document's operation name a moment late; a document with one operation has only one answer. */
function chosenOperation(query: string, name?: string | null): OperationDefinitionNode | undefined {
  let definitions;
  try {
    definitions = parse(query, { noLocation: true }).definitions;
  } catch {
    return undefined; // The server says better what is wrong.
  }
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return operations.length === 1 ? operations[0] : operations.find((operation) => operation.name?.value === name);
}
