import { describeCluster, type Level } from '@tranche/kube-conformance'
import { clusterHarness, simulatorHarness } from './harnesses.ts'

/** Tests the cluster of the kubeconfig that `TRANCHE_TEST_KUBECONFIG` names, and the simulator where it names none. */
export function describeThisCluster(level: Level): void {
  const kubeconfig = process.env['TRANCHE_TEST_KUBECONFIG'] ?? ''
  if (kubeconfig === '') describeCluster('the simulator', simulatorHarness, [level])
  else describeCluster(`the cluster of ${kubeconfig}`, () => clusterHarness(kubeconfig), [level])
}
