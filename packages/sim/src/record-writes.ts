import type { Clock } from '@tranche/clock'
import type { AcceptedWrite, ApiServer } from '@tranche/sim-api'
import { nodeOf, project } from './project.ts'

/**
 * Records every write that the server accepts, as one JSON object a line:
 * `{t, type, kind, rv, o, actor, verb, resource, uid, node}`. `t` is the clock's wall time in epoch milliseconds, `type`
 * the watch event that the write becomes, `rv` the resource version as a number, `o` the object as {@link project} keeps
 * it, `node` the node it is about, if any.
 *
 * @param record takes each line, without its end, in order of `rv`
 * @returns what ends the recording
 */
export function recordWrites(server: ApiServer, clock: Clock, record: (line: string) => void): () => void {
  return server.observe((write) => record(JSON.stringify(lineOf(write, clock.nowMs()))))
}

function lineOf({ type, kind, object, actor, verb, resource }: AcceptedWrite, nowMs: number): object {
  return {
    t: Math.round(nowMs * 1000) / 1000,
    type,
    kind,
    rv: Number(object.metadata.resourceVersion),
    o: project(object),
    actor: actor.name,
    verb,
    resource: resource.resource,
    uid: object.metadata.uid,
    node: nodeOf(object),
  }
}
