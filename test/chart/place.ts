import { systemClock } from '@tranche/clock'
import { createKubeClient, createUndiciExchange, isNotFound, type KubeClient, loadKubeConfig, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import type { FaultInjector } from '@tranche/sim-api'
import { type Cluster, startCluster } from '../clients/cluster.ts'
import { type Ended, runProgram } from '../clients/run-program.ts'
import { programs } from './chart.ts'

/** A cluster without Tranche, whose administrator the test is. */
export interface Place {
  readonly kubeconfig: string
  readonly server: string
  /** PEM. */
  readonly caCertificate: string
  readonly client: KubeClient
  /** @throws {Error} with the output of kubectl if it fails */
  kubectl(args: readonly string[], input?: string): Promise<Ended>
  end(): Promise<void>
}

/** Options of the simulator; a cluster named by a kubeconfig is used as it is, without injected faults. */
export interface PlaceOptions {
  /** Nodes of the simulator. */
  readonly nodes: number
  readonly faults?: FaultInjector
}

/**
 * Opens the cluster of the kubeconfig in `TRANCHE_TEST_KUBECONFIG`; the simulator if that is not set.
 *
 * @throws {Error} if the cluster has our CustomResourceDefinitions: the test may not remove objects of others
 */
export async function openPlace({ nodes, faults }: PlaceOptions): Promise<Place> {
  const kubeconfig = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  if (kubeconfig === '') {
    const cluster = await startCluster(nodes, { definitions: false, ...(faults && { faults }) })
    return placeOf(cluster, () => cluster.end())
  }
  const view = await run(['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json'], kubeconfig)
  const [{ cluster }] = (JSON.parse(view.stdout) as KubeConfigView).clusters
  const caCertificate = Buffer.from(cluster['certificate-authority-data'], 'base64').toString()
  const place = await placeOf({ kubeconfig, url: cluster.server, caCertificate }, async () => undefined)
  await refuseDefinitions(place)
  return place
}

interface KubeConfigView {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } }]
}

async function placeOf(
  { kubeconfig, url, caCertificate }: Pick<Cluster, 'kubeconfig' | 'url' | 'caCertificate'>,
  onEnd: () => Promise<void>,
): Promise<Place> {
  const { exchange, watchExchange, close } = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig }))
  const ports = { exchange, watchExchange, clock: systemClock, log: silentLogger }
  return {
    kubeconfig,
    server: url,
    caCertificate,
    client: createKubeClient({ ...ports, userAgent: 'kubelet/test' }),
    kubectl: (args, input) => run(args, kubeconfig, input),
    async end() {
      await close()
      await onEnd()
    },
  }
}

async function refuseDefinitions({ client, kubeconfig }: Place): Promise<void> {
  const there = await client
    .get(resourcePaths.customResourceDefinitions, { namespace: '', name: 'rollouts.rollouts.kruise.io' })
    .catch((error: unknown) => (isNotFound(error) ? null : Promise.reject(error)))
  if (there !== null) throw new Error(`the cluster of ${kubeconfig} has Rollouts: name an unused one in TRANCHE_TEST_KUBECONFIG`)
}

async function run(args: readonly string[], kubeconfig: string, input = ''): Promise<Ended> {
  const ended = await runProgram(programs!.kubectl, ['--kubeconfig', kubeconfig, ...args], { input })
  if (ended.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${ended.stderr}`)
  return ended
}
