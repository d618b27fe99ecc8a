import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Runs a measuring program in its own process, so that it starts with an empty memory.
 *
 * @param args file of the program and its arguments
 * @param nodeOptions options of Node.js, such as `--expose-gc`
 * @returns the JSON objects that it prints, one per line
 */
export async function runScript<T>(args: readonly string[], nodeOptions: readonly string[] = []): Promise<readonly T[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T)
}

/** Runs a program that prints one object. @throws if it prints none */
export async function runForOne<T>(args: readonly string[], nodeOptions?: readonly string[]): Promise<T> {
  const last = (await runScript<T>(args, nodeOptions)).at(-1)
  if (last === undefined) throw new Error(`${args.join(' ')} printed no result`)
  return last
}

/** @returns the results of runs one after the other */
export async function times<T>(count: number, run: () => Promise<T>): Promise<readonly T[]> {
  const values: T[] = []
  for (let i = 0; i < count; i++) values.push(await run())
  return values
}
