/**
 * How the calls of a port end, method by method: `promise` where one returns a promise, else `value`. Written beside a
 * port, it is held against the port's type in both directions: a method that is missing or too many does not compile.
 */
export type PortCalls<Port> = {
  readonly [Method in keyof Port]-?: Port[Method] extends (...args: never) => Promise<unknown> ? 'promise' : 'value'
}

/** Ports of a program, by the name that their failpoints begin with. */
export type ProgramPorts = Readonly<Record<string, Readonly<Record<string, 'promise' | 'value'>>>>

/**
 * Lets a process be ended or held up at the calls of its ports. Each call has two points: `<port>.<method>.before`, with
 * the decision made and nothing done, and `<port>.<method>.after`, with it done (or failed) and nobody told.
 */
export interface Failpoints {
  /** @returns the port, whose every method passes its points; other properties are as they were */
  wrap<Port extends object>(name: string, port: Port): Port
}

/** Ports as they are. */
export const noFailpoints: Failpoints = { wrap: (_name, port) => port }

/**
 * @param onPoint called at every point. A promise that it returns before a call delays the call, which then returns a promise
 *   as well: return one only where the method does
 */
export function createFailpoints(onPoint: (point: string) => Promise<void> | void): Failpoints {
  return {
    wrap: (name, port) =>
      new Proxy(port, {
        get(target, key): unknown {
          const member: unknown = Reflect.get(target, key)
          if (typeof member !== 'function' || typeof key !== 'string') return member
          return (...args: readonly unknown[]) =>
            passPoints(`${name}.${key}`, onPoint, () => Reflect.apply(member, target, args) as unknown)
        },
      }),
  }
}

function passPoints(call: string, onPoint: (point: string) => Promise<void> | void, act: () => unknown): unknown {
  const before = onPoint(`${call}.before`)
  const after = (): Promise<void> | void => onPoint(`${call}.after`)
  if (before !== undefined) return before.then(async () => finishing(act, after))
  return finishing(act, after)
}

function finishing(act: () => unknown, after: () => Promise<void> | void): unknown {
  let result: unknown
  try {
    result = act()
  } catch (error) {
    void after()
    throw error
  }
  if (result instanceof Promise) return settled(result, after)
  void after()
  return result
}

async function settled(result: Promise<unknown>, after: () => Promise<void> | void): Promise<unknown> {
  try {
    return await result
  } finally {
    await after()
  }
}

/** @returns the points of all ports, each with how its call ends, in the order in which they are listed */
export function listFailpoints(ports: ProgramPorts): ReadonlyMap<string, 'promise' | 'value'> {
  const calls = Object.entries(ports).flatMap(([port, methods]) =>
    Object.entries(methods).map(([method, ends]) => [`${port}.${method}`, ends] as const),
  )
  return new Map(
    calls.flatMap(
      ([call, ends]) =>
        [
          [`${call}.before`, ends],
          [`${call}.after`, ends],
        ] as const,
    ),
  )
}
