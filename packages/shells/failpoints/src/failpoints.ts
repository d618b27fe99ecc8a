/**
 * How each method of a port returns: `promise`, or else `value`. The type checks it against the port in both directions: a missing or extra
 * method does not compile.
 */
export type PortCalls<Port> = {
  readonly [Method in keyof Port]-?: Port[Method] extends (...args: never) => Promise<unknown> ? 'promise' : 'value'
}

/** Ports of a program, by the prefix of their failpoints. */
export type ProgramPorts = Readonly<Record<string, Readonly<Record<string, 'promise' | 'value'>>>>

/**
 * Ends or delays a process at the calls of its ports. Each call has two points: `<port>.<method>.before`, with the decision made and
 * nothing done, and `<port>.<method>.after`, with the call done (or failed) and its result not returned yet.
 */
export interface Failpoints {
  /** @returns the port with failpoints around every method; other properties are unchanged */
  wrap<Port extends object>(name: string, port: Port): Port
}

/** Leaves ports unchanged. */
export const noFailpoints: Failpoints = { wrap: (_name, port) => port }

/**
 * @param onPoint called at every point. A promise that it returns before a call delays the call, which then returns a promise as well:
 *   return one only if the method does
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

/** @returns the points of all ports with the way their calls return, in listed order */
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
