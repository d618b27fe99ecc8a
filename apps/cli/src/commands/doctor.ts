import { systemClock } from '@tranche/clock'
import { examineCluster, type PrepareRedisCheck, type RedisOptions } from '@tranche/doctor'
import { AppError } from '@tranche/errors'
import { LEASE_NAMESPACE } from '@tranche/kube-types'
import type { CommandIo } from '../process/command-io.ts'
import { explained } from '../release-client/explain-error.ts'
import { openCluster } from '../release-client/open-session.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import type { AccessOptions, OutputOptions } from '../options/access-options.ts'
import { createOutputDrawing } from '../output/create-output-drawing.ts'
import { valueText } from '../output/print-value.ts'
import { VERSION } from '../process/version.ts'
import { doctorView } from '../view/reports/doctor-view.ts'

/** Options of `doctor`. */
export interface DoctorOptions {
  readonly access: AccessOptions
  readonly output: OutputOptions
  readonly redis: RedisOptions
  /** Namespace of the Lease of controllers. @default kube-system */
  readonly leaseNamespace: string | undefined
}

/** Checks the prerequisites of a cluster and suggests fixes. Changes nothing. */
export async function doctor(
  { access, output, redis, leaseNamespace = LEASE_NAMESPACE }: DoctorOptions,
  io: CommandIo,
  prepareRedisCheck: PrepareRedisCheck,
): Promise<ExitCode> {
  if (access.source.kind === 'server')
    throw new AppError('OPTION_INVALID', 'doctor requires a cluster, not a REST API', {
      hint: 'Leave --server out, or unset TRANCHE_SERVER.',
    })
  const named = await prepareRedisCheck(redis, io.env)
  await using open = await openCluster(access.source, io)
  const time = new AbortController()
  using _timer = lateAfter(access.requestTimeoutMs, time)
  const { client, exchange, cluster } = open
  const namespace = access.namespace ?? cluster.namespace
  const findings = await examineCluster({
    ...{ client, exchange, clock: systemClock, signal: time.signal, behalf: null, leaseNamespace, redis: named, prepareRedisCheck },
    server: `${cluster.server} (context ${cluster.context})`,
    namespace,
    // In a pod, the namespace of the context is its own.
    namespaces: [namespace, cluster.namespace],
    examiner: { name: 'this command', machine: 'this machine', version: VERSION, needsRights: true },
  }).catch((error: unknown) => {
    throw explained(error, cluster)
  })
  if (output.format === 'json' || output.format === 'yaml') io.out.write(await valueText(findings, output.format, io.out))
  else {
    const drawing = createOutputDrawing(io.out, io, { colors: output.colors, nowMs: systemClock.nowMs() })
    io.out.write(`${doctorView(findings, drawing).join('\n')}\n`)
  }
  return findings.some(({ state }) => state === 'problem') ? exitCodes.failed : exitCodes.done
}

/** Aborts pending requests with API_DEADLINE after `ms` milliseconds. */
function lateAfter(ms: number, time: AbortController): Disposable {
  const late = new AppError('API_DEADLINE', `the check did not finish within ${ms} ms`)
  const timer = systemClock.setTimer(ms, () => time.abort(late))
  return { [Symbol.dispose]: () => timer.cancel() }
}
