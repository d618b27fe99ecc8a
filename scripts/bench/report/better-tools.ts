/** Figures of other tools, for the section "Where others are better" of the report. */

/** One point in which another tool is better. */
export interface BetterTool {
  readonly point: string
  readonly others: string
  readonly tranche: string
}

/** Measured in November 2026 with one control plane at a time on two cores; Tranche as of commit 4839045, as one process. */
export const betterTools: readonly BetterTool[] = [
  {
    point: 'Programs to run',
    others: 'Kubernetes updates a DaemonSet with a controller that every cluster already runs. Nothing is installed.',
    tranche: 'A controller and an executor, or one process for both. CRDs, RBAC, and Redis for several executors.',
  },
  {
    point: 'Requests without batches',
    others: 'The DaemonSet controller sends 2.3 to 4.5 requests per updated node, including creation and status.',
    tranche:
      'Comes on top: 2.3 to 2.9 requests per node at 100 and 300 nodes, 4.7 at 30 nodes. The controller of the DaemonSet still creates the pods.',
  },
  {
    point: 'Requests with a large budget',
    others: 'OpenKruise Rollouts sends 2.8 requests per node when all 100 nodes may be down at once.',
    tranche: 'One deletion and one label per node remain, however large the budget is.',
  },
  {
    point: 'Memory',
    others: 'The manager of OpenKruise Rollouts has a peak of 57 to 66 MiB at 30 to 300 nodes, and 53 MiB when idle. It is written in Go.',
    tranche: 'One Node.js process for controller and executor had a peak of 157 to 235 MB in a release.',
  },
  {
    point: 'Makespan of small releases with batches',
    others: 'RollingUpdate has no batches: 1.06 to 1.11 times the lower bound.',
    tranche:
      'With batches of 10, 50 and 100 %: 1.14 to 1.24 times the bound without batches, 1.09 to 1.17 times the bound with batches. With one batch: 1.03 to 1.10, like RollingUpdate.',
  },
  {
    point: 'Makespan, if the limit does not matter',
    others:
      'OpenKruise Rollouts ends some releases before the bound: 0.82 times at 300 nodes with limit 5. It had more nodes down than the limit allows in 49 of 49 runs.',
    tranche: 'Never exceeds the limit, and so never ends before the bound.',
  },
  {
    point: 'Other workloads',
    others: 'Argo Rollouts, Flagger and OpenKruise Rollouts release Deployments, and shift traffic.',
    tranche: 'DaemonSets only, without traffic.',
  },
]
