import { reportNodes, reportRollout, summarizeRollout } from '@tranche/reports'
import { type FactReader, readAllFacts, readFacts } from './read-facts.ts'
import type { ReleaseDesk } from './release-desk.ts'

/** Answers from a cluster, reading afresh for every question: with the rights of whoever the client speaks for. */
export function createKubeDesk(reader: FactReader): ReleaseDesk {
  return {
    list: async (options) => (await readAllFacts(reader, options)).map(summarizeRollout),
    report: async (key, options) => reportRollout(await readFacts(reader, key, options)),
    picture: async (key, options) => {
      const facts = await readFacts(reader, key, options)
      return {
        report: reportRollout(facts),
        nodes: reportNodes(facts),
        batches: [],
        revisions: [],
      }
    },
  }
}
