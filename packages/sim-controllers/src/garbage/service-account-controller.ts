import { isStatus, resources } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'

const WORKERS = 1
const ACCOUNT = 'default'

/** Runs the controller of service accounts: each namespace that is not being deleted has the account `default`. */
export function startServiceAccountController({ client, clock, onError }: ControllerOptions): RunningController {
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(() => clock.monotonicMs()),
    workers: WORKERS,
    async work(namespace) {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace } }
      await client.create(resources.serviceAccounts, account).catch((error: unknown) => {
        if (!isExpected(error)) throw error
      })
    },
    onError,
  })
  const withAccount = new Set<string>()
  const accounts = client.watch(resources.serviceAccounts, { fieldSelector: `metadata.name=${ACCOUNT}` }, (event) => {
    if (event.type === 'SYNCED') return
    const { namespace = '' } = event.object.metadata
    if (event.type !== 'DELETED') return void withAccount.add(namespace)
    withAccount.delete(namespace)
    queue.add(namespace)
  })
  const namespaces = client.watch(resources.namespaces, {}, (event) => {
    if (event.type === 'SYNCED' || event.type === 'DELETED') return
    const { name, deletionTimestamp } = event.object.metadata
    if (deletionTimestamp === undefined && !withAccount.has(name)) queue.add(name)
  })
  return {
    stop() {
      queue.stop()
      accounts.stop()
      namespaces.stop()
    },
  }
}

/** It is there already, or its namespace goes or has gone. */
function isExpected(error: unknown): boolean {
  return isStatus(error, 409) || isStatus(error, 403) || isStatus(error, 404)
}
