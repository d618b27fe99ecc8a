import { randomBytes } from 'node:crypto'
import type { RecordedWrite } from '@tranche/recording'
import { createSimulator, nodeOf, project } from '@tranche/sim'
import { type AcceptedWrite, type HttpsServer, listen } from '@tranche/sim-api'
import { VirtualClock } from '@tranche/clock'
import { createAdmissionHook } from './admission-hook.ts'
import type { Simulation, SimulationSettings } from './simulation.ts'

/**
 * Starts a simulated cluster. Its administrator token is random, so other users of this machine cannot guess it.
 *
 * @throws {AppError} PORT_IN_USE
 */
export async function startSimulation(settings: SimulationSettings): Promise<Simulation> {
  const { clock, seed, nodes, speed, watchDelayMs, port, record } = settings
  const adminToken = randomBytes(24).toString('base64url')
  const onError = (error: unknown, actor: string, key: string): void =>
    settings.log.debug({ actor, key, err: error }, 'simulator will try again')
  const heartbeats = !(clock instanceof VirtualClock)
  const simulator = createSimulator({ clock, seed, nodes, speed, heartbeats, watchDelayMs, adminToken, onError, ...(record && { record }) })
  if (settings.admission === 'inProcess')
    simulator.server.useAdmission(createAdmissionHook(simulator.clientFor({ name: 'tranche-admission' })))
  simulator.server.observe((write) => settings.onWrite(toRecordedWrite(write, clock.nowMs())))

  const https = port === null ? null : await listen(simulator.front, { port, ...holdingClock(settings) })
  await simulator.start()
  return {
    simulator,
    exchangeFor: simulator.exchangeFor,
    access: https && { server: https.url, ca: https.caCertificate, token: adminToken },
    close: () => close(simulator, https),
  }
}

/** Virtual time does not advance while an external request is in flight. */
function holdingClock({ clock }: SimulationSettings): { readonly onRequestStart?: () => () => void } {
  return clock instanceof VirtualClock ? { onRequestStart: () => clock.hold() } : {}
}

function toRecordedWrite({ type, kind, object, actor, verb, resource }: AcceptedWrite, nowMs: number): RecordedWrite {
  const node = nodeOf(object)
  const { namespace, resourceVersion, uid } = object.metadata
  return {
    t: nowMs,
    type,
    kind,
    rv: Number(resourceVersion),
    o: project(object),
    actor: actor.name,
    verb,
    resource: resource.resource,
    uid,
    ...(node !== undefined && { node }),
    ...(namespace !== undefined && { namespace }),
  }
}

async function close(simulator: ReturnType<typeof createSimulator>, https: HttpsServer | null): Promise<void> {
  simulator.stop()
  await https?.close()
}
