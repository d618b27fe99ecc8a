import { randomBytes } from 'node:crypto'
import { customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import {
  createKubeClient,
  createUndiciExchange,
  isAlreadyExists,
  type KubeClient,
  loadKubeConfig,
  resourcePaths,
} from '@tranche/kube-client'
import { silentLogger } from '@tranche/log'
import { startCluster } from '../clients/cluster.ts'

/** A cluster with DaemonSets, RBAC and our definitions, of which a test knows nothing else: a real one, or the simulator. */
export interface AnyCluster {
  readonly kubeconfig: string
  /** Names of this run begin with it. */
  readonly run: string
  readonly admin: KubeClient
  /** The client of a user whom the administrator acts for. */
  as(user: string): Promise<KubeClient>
  /** A token of a service account, which is made where there is none. */
  token(namespace: string, account: string): Promise<string>
  end(): Promise<void>
}

/**
 * Opens the cluster of the kubeconfig that `TRANCHE_TEST_KUBECONFIG` names; the simulator where it names none.
 *
 * @throws {Error} where there are Rollouts: a controller of ours would act on them
 */
export async function openAnyCluster(nodes: number): Promise<AnyCluster> {
  const path = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  if (path !== '') return opened(path, async () => undefined)
  const cluster = await startCluster(nodes)
  return opened(cluster.kubeconfig, () => cluster.end())
}

async function opened(kubeconfig: string, onEnd: () => Promise<void>): Promise<AnyCluster> {
  const closing: (() => Promise<void>)[] = []
  const connect = async (user?: string): Promise<KubeClient> => {
    const impersonate = user === undefined ? {} : { impersonate: { user, groups: [] } }
    const { exchange, watchExchange, close } = createUndiciExchange(
      await loadKubeConfig({ clock: systemClock, path: kubeconfig, ...impersonate }),
    )
    closing.push(close)
    return createKubeClient({ exchange, watchExchange, clock: systemClock, log: silentLogger, userAgent: 'test/1' })
  }
  const admin = await connect()
  await define(admin)
  const rollouts = await admin.list<Rollout>(resourcePaths.rollouts)
  if (rollouts.items.length > 0) throw new Error(`the cluster of ${kubeconfig} has Rollouts: name one that nobody uses`)
  return {
    kubeconfig,
    run: `attack-${randomBytes(3).toString('hex')}`,
    admin,
    as: connect,
    async token(namespace, name) {
      await admin.create(serviceAccounts, { metadata: { namespace, name } }).catch(unlessThere)
      const at = { ...serviceAccounts, plural: `serviceaccounts/${name}/token` }
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: { namespace }, spec: {} }
      return ((await admin.create(at, request)) as unknown as { readonly status: { readonly token: string } }).status.token
    },
    async end() {
      for (const close of closing) await close()
      await onEnd()
    },
  }
}

const serviceAccounts = { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true }

async function define(admin: KubeClient): Promise<void> {
  for (const definition of customResourceDefinitions)
    await admin.create(resourcePaths.customResourceDefinitions, definition).catch(unlessThere)
  await admin.text('/openapi/v3')
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error
}
