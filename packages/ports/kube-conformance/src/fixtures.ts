import { test } from 'vitest'
import { type Api, openApi } from './api.ts'
import type { Body } from './body.ts'
import { within } from './deadline.ts'
import type { ClusterHarness } from './harness.ts'
import { pathOf } from './paths.ts'

/** Label of the suite's namespaces; its value is the run. */
export const RUN_LABEL = 'conformance.tranche.dev/run'

/** `it` whose tests may name `cluster`, `api`, `namespace`, `otherNamespace` and `uniqueName`. */
export type ConformanceTest = ReturnType<typeof conformanceTest>

/**
 * Tests get what they name, and each clears away behind itself: `namespace` and `otherNamespace` are namespaces of its own whose service
 * accounts are ready; `uniqueName` names something outside namespaces.
 *
 * @param current the cluster, known once tests run
 */
export function conformanceTest(current: () => ClusterHarness) {
  let count = 0
  const nextName = (): string => `${current().run}-${++count}`
  return test
    .extend('cluster', () => current())
    .extend('uniqueName', () => nextName())
    .extend('api', ({ cluster }, { onCleanup }) => {
      const abort = new AbortController()
      onCleanup(() => abort.abort())
      return openApi(cluster, abort.signal)
    })
    .extend('namespace', ({ cluster, api }, { onCleanup }) => namespaceFor({ cluster, api }, nextName(), onCleanup))
    .extend('otherNamespace', ({ cluster, api }, { onCleanup }) => namespaceFor({ cluster, api }, nextName(), onCleanup))
}

/**
 * Maximum number of namespaces in deletion. A real cluster ends one or two namespaces a second, in the order of their deletion. If tests
 * delete them faster, a test that waits for an end also waits for all that were deleted before.
 */
const MOST_ENDING = 10

async function namespaceFor(
  { cluster, api }: { readonly cluster: ClusterHarness; readonly api: Api },
  name: string,
  onCleanup: (cleanup: () => Promise<void>) => void,
): Promise<string> {
  await createNamespace(cluster, api, name)
  onCleanup(async () => {
    // Pods that no kubelet ends would hold the namespace for the whole of their grace period.
    await api.delete(pathOf.pods(name), { query: { gracePeriodSeconds: 0 } })
    await api.delete(pathOf.namespaces(name))
  })
  return name
}

async function createNamespace(cluster: ClusterHarness, api: Api, name: string): Promise<void> {
  const ending = () => api.get(pathOf.namespaces(), { query: { labelSelector: RUN_LABEL } })
  await api.askUntil(ending, 'an end of earlier namespaces', ({ body }) => endingOf(body.items).length < MOST_ENDING)
  await api.create(pathOf.namespaces(), { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [RUN_LABEL]: cluster.run } } })
  await api.until(pathOf.serviceAccounts(name), 'default', `the service account of namespace ${name}`, (account) => account !== undefined)
}

function endingOf(namespaces: readonly Body[]): readonly Body[] {
  return namespaces.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
}

/** Waits until no namespace of this run is left. */
export async function whenNamespacesAreGone(cluster: ClusterHarness): Promise<void> {
  const abort = new AbortController()
  const api = openApi(cluster, abort.signal)
  const query = { labelSelector: `${RUN_LABEL}=${cluster.run}` }
  const { body } = await api.get(pathOf.namespaces(), { query })
  const left = new Set(body.items.map(({ metadata }) => metadata.name))
  const watch = await api.watch(pathOf.namespaces(), { ...query, resourceVersion: body.metadata.resourceVersion })
  const gone = async (): Promise<void> => {
    while (left.size > 0) {
      const { type, object } = await watch.read()
      if (type === 'DELETED') left.delete(object.metadata.name)
    }
  }
  await within(cluster, () => `the end of namespaces ${[...left].join(', ')}`, gone())
  await watch.close()
  abort.abort()
}
