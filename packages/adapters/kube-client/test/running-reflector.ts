import { FakeClock, type VirtualClock } from '@tranche/clock'
import { createKubeClient, createReflector, type ReflectorOptions, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { FakeApiServer, type Thing } from './fake-api-server.ts'

type Options = Partial<ReflectorOptions<number, Thing>>

/** A reflector of the things of a fake server; nothing has started. */
export function setUp<C extends FakeClock | VirtualClock = FakeClock>(
  options: Options = {},
  server?: FakeApiServer,
  clock: C = new FakeClock() as C,
) {
  const api = server ?? new FakeApiServer(clock)
  const log = options.log ?? silentLogger
  const client = createKubeClient({ exchange: api.exchange, clock, userAgent: 'test', log })
  const reflector = createReflector<number, Thing>({
    client,
    resource: resourcePaths.pods,
    transform: (thing) => thing.spec.value,
    clock,
    log,
    ...options,
  })
  return { server: api, reflector, clock }
}

/** Synced reflector, with everything it has reported since. */
export async function running(objects: Record<string, number> = {}, options: Options = {}, signal?: AbortSignal, brokenHandler = false) {
  const { server, reflector, clock } = setUp(options)
  for (const [name, value] of Object.entries(objects)) server.put(name, value)
  const run = reflector.start(signal)
  await reflector.whenSynced()
  await clock.advanceAsync(0)
  const reported: string[] = []
  if (brokenHandler) {
    reflector.subscribe({
      onChange: ({ name }) => {
        throw new Error(`handler broke on ${name}`)
      },
    })
  }
  reflector.subscribe({
    onChange: ({ name }, previous, current) => void reported.push(`${name}: ${previous ?? 'none'} → ${current ?? 'none'}`),
  })
  return { server, reflector, clock, reported, run }
}

/** @returns how often the server was asked for a list, or a chunk of one */
export function lists(server: FakeApiServer): number {
  return server.requests.filter((request) => !request.path.includes('watch=true')).length
}
