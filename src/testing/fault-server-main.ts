/**
 * The fault server as a program of its own, so that its work does not disturb the process it tests:
 * `node fault-server-main.js '{"limits":{"rpm":600},"latency":"200ms"}'` prints `{"url":"http://127.0.0.1:...","pid":...}`
 * and answers until it is stopped; `<url>/__fault-server/{stats,ledger,paid-twice,reset,behave}` read and steer it.
 */
import { onStopRequest, printLine, programArguments } from '../platform/program.ts';
import { startFaultServer } from './fault-server.ts';
import type { FaultServerOptions } from './server-state.ts';

const options = JSON.parse(programArguments()[0] ?? '{}') as FaultServerOptions;
const server = await startFaultServer(options);
printLine(JSON.stringify({ url: server.url, port: server.port }));
onStopRequest(() => void server.close());
