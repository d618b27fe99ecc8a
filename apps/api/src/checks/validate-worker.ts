/** Thread entry: checks one set of manifests and exits. */
import { parentPort, workerData } from 'node:worker_threads'
import { validateManifests } from './validate-manifests.ts'

parentPort?.postMessage(validateManifests(workerData as string))
