/**
 * A fuzzer of the API that generates requests from its OpenAPI document (openapi.test.ts keeps it equal to the routes). Maintained fuzzers
 * of this kind (Schemathesis, RESTler) need Python or .NET, which the tests of this repository must not need. Libraries that generate
 * values from a JSON Schema cannot shrink. So fast-check generates the values, and Ajv judges the answers. Our own code checks which
 * sender may send what, and which changes a request may make in the cluster.
 */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { type Description, operationsOf } from './described.ts'
import { hintsOf } from './hints.ts'
import { judgeJunk, junk } from './junk.ts'
import { type AnswerSchemas, judge } from './judge.ts'
import { type FuzzRequest, requestsTo } from './requests.ts'
import { type Answer, sendBytes } from './send.ts'
import { type FuzzStage, openFuzzStage } from './stage.ts'

/** Amount of requests. */
export interface FuzzOptions {
  /** Seed of the first round; each later round increments it. */
  readonly seed: number
  /** Requests per round. */
  readonly runs: number
  /** Whether to start another round. */
  readonly goesOn: (round: number) => boolean
  /** @see openFuzzStage */
  readonly planMs: number
}

/** Result of a fuzz run. */
export interface FuzzReport {
  readonly requests: number
  /** Numbers of successful and other answers per operation. */
  readonly operations: Readonly<Record<string, { readonly well: number; readonly refused: number }>>
  /** Number of answers per status; 0: no answer. */
  readonly statuses: Readonly<Record<string, number>>
  /** The most expensive request, with its CPU time in milliseconds. */
  readonly dearest: { readonly cpuMs: number; readonly request: string }
  /** Findings, each with the smallest failing request and the seed of its round. */
  readonly findings: readonly { readonly seed: number; readonly finding: string; readonly request: string }[]
}

/** Time limit of a round including shrinking, in milliseconds; each request of a hanging finding takes minutes. */
const SHRINK_MS = 150_000

/** Sends requests to every operation of the API, judges every answer, and returns the findings. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const stage = await openFuzzStage({ planMs: options.planMs })
  try {
    return await rounds(stage, options)
  } finally {
    await stage.end()
  }
}

async function rounds(stage: FuzzStage, { seed, runs, goesOn }: FuzzOptions): Promise<FuzzReport> {
  const description = JSON.parse(readFileSync(`${import.meta.dirname}/../../openapi.json`, 'utf8')) as Description
  const operations = operationsOf(description)
  const schemas = answerSchemas(description)
  const requests = requestsTo(operations, description, hintsOf(stage.revisions))
  const tally = new Tally(operations.map(({ id }) => id))
  for (let round = 0; goesOn(round); round++) {
    await stage.enter(round % 2 === 0 ? 'waiting' : 'failed')
    const property = fc.asyncProperty(requests, async (request) => {
      const findings = await tried(stage, request, { schemas, tally })
      if (findings.length > 0) throw new Error(findings.join('; '))
    })
    const outcome = await fc.check(property, { seed: seed + round, numRuns: runs, interruptAfterTimeLimit: SHRINK_MS })
    if (outcome.failed) tally.found(seed + round, outcome.errorInstance, shownOrNothing(outcome.counterexample?.[0]))
    const junkProperty = fc.asyncProperty(junk, async (bytes) => {
      const findings = judgeJunk(await sendBytes(stage.url, bytes))
      tally.requests++
      if (findings.length > 0) throw new Error(findings.join('; '))
    })
    const rest = await fc.check(junkProperty, { seed: seed + round, numRuns: Math.ceil(runs / 10) })
    if (rest.failed) tally.found(seed + round, rest.errorInstance, JSON.stringify(rest.counterexample?.[0].toString('latin1')))
  }
  return tally
}

interface Trial {
  readonly schemas: AnswerSchemas
  readonly tally: Tally
}

async function tried(stage: FuzzStage, request: FuzzRequest, { schemas, tally }: Trial): Promise<readonly string[]> {
  const before = await stage.store()
  const start = process.threadCpuUsage()
  const answer = await stage.send(request)
  const { user, system } = process.threadCpuUsage(start)
  const after = await stage.store()
  const cpuMs = (user + system) / 1_000
  tally.add(request, statusOf(answer), cpuMs)
  if (!request.stays) await stage.restore(after)
  return judge({ request, answer, cpuMs, before, after }, schemas)
}

function statusOf(answer: Answer | null | 'hung'): number {
  return answer === null || answer === 'hung' ? 0 : answer.status
}

class Tally implements FuzzReport {
  requests = 0
  readonly operations: Record<string, { well: number; refused: number }>
  readonly statuses: Record<string, number> = {}
  dearest = { cpuMs: 0, request: '' }
  readonly findings: { seed: number; finding: string; request: string }[] = []

  constructor(operations: readonly string[]) {
    this.operations = Object.fromEntries(operations.map((id) => [id, { well: 0, refused: 0 }]))
  }

  add(request: FuzzRequest, status: number, cpuMs: number): void {
    this.requests++
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    const of = this.operations[request.operation.id]
    if (of !== undefined) of[status > 0 && status < 400 ? 'well' : 'refused']++
    if (cpuMs > this.dearest.cpuMs) this.dearest = { cpuMs: Math.round(cpuMs), request: shown(request) }
  }

  found(seed: number, error: unknown, request: string): void {
    this.findings.push({ seed, finding: error instanceof Error ? error.message : String(error), request })
  }
}

function shownOrNothing(request: FuzzRequest | undefined): string {
  return request === undefined ? '' : shown(request)
}

/** @returns the request as readable text */
function shown({ operation, method, target, headers, sender, signed, body }: FuzzRequest): string {
  const bytes = body === undefined ? 'no body' : `${body.byteLength} bytes: ${JSON.stringify(body.toString().slice(0, 300))}`
  const sign = operation.id === 'sendToHook' ? `, signed ${signed}` : ''
  return `${operation.id} as ${sender}${sign}: ${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 600)}, ${bytes}`
}

function answerSchemas(description: Description): AnswerSchemas {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'api', components: description.components })
  const compiled = new Map<string, ValidateFunction | 'text'>()
  for (const { id, answers } of operationsOf(description))
    for (const [status, types] of Object.entries(answers))
      for (const [type, schema] of Object.entries(types)) {
        const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')) as object
        compiled.set(`${id} ${status} ${type}`, type.endsWith('json') ? ajv.compile(whole) : 'text')
      }
  return (id, status, type) => compiled.get(`${id} ${status} ${type}`)
}
