#!/bin/bash
# A Slurm cluster of this host's own: one controller and some nodes with four fake GPUs each, as any user, on loopback.
#   cluster.sh start DIR [NODES]    in a fraction of a second; DIR holds everything and must be short (a socket is in it)
#   cluster.sh stop DIR             ends its jobs and daemons
#   cluster.sh controller DIR       starts a controller that was killed, with the state that it saved
#   cluster.sh rest DIR [unix]      starts slurmrestd for users with tokens, or on a socket without; prints its address
#   cluster.sh token DIR [SECONDS]  prints a token of this user
#   cluster.sh node DIR NAME        starts a node's daemon that was killed
# Programs need SLURM_CONF=DIR/slurm.conf. Ports: NODES + 1 free ones, written to DIR/ports.
set -eu
command=$1
dir=$2
export SLURM_CONF=$dir/slurm.conf
export PATH=$PATH:/usr/sbin

free_ports() {
  python3 - "$1" <<'PY'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))
PY
}

configure() {
  local nodes=$1 host user ports
  host=$(hostname -s)
  user=$(id -un)
  read -r -a ports <<<"$(free_ports $((nodes + 1)))"
  mkdir -p "$dir"/{run,log,state,spool,dev}
  chmod 700 "$dir/state"
  head -c 32 /dev/urandom >"$dir/state/jwt.key"
  chmod 600 "$dir/state/jwt.key"
  for gpu in 0 1 2 3; do ln -sfn /dev/null "$dir/dev/nvidia$gpu"; done
  cat >"$dir/slurm.conf" <<CONF
ClusterName=vernier
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$dir/state/jwt.key
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPidFile=$dir/run/controller.pid
SlurmctldLogFile=$dir/log/controller.log
SlurmdPidFile=$dir/run/%n.pid
SlurmdLogFile=$dir/log/%n.log
SlurmdSpoolDir=$dir/spool/%n
StateSaveLocation=$dir/state
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
EnforcePartLimits=${ENFORCE_LIMITS:-NO}
GresTypes=gpu
MinJobAge=${MIN_JOB_AGE:-300}
KillWait=2
SlurmdTimeout=5
MessageTimeout=5
InactiveLimit=0
ReturnToService=1
SlurmdParameters=config_overrides
CONF
  : >"$dir/gres.conf"
  for i in $(seq "$nodes"); do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[$i]} CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=4000 Gres=gpu:v100:4 State=UNKNOWN" >>"$dir/slurm.conf"
    echo "NodeName=n$i Name=gpu Type=v100 File=$dir/dev/nvidia[0-3]" >>"$dir/gres.conf"
    mkdir -p "$dir/spool/n$i"
  done
  echo "PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=100 MaxTime=60 State=UP OverSubscribe=NO" >>"$dir/slurm.conf"
}

# slurmrestd refuses to run as root, and needs nothing but the configuration.
rest() {
  local name=rest runner=() port
  chmod 755 "$dir"
  [ "$(id -u)" != 0 ] || runner=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  runner+=(slurmrestd -s openapi/v0.0.38 -a)
  if [ "${1:-}" = unix ]; then
    name=rest_unix
    mkdir -p "$dir/socket"
    chmod 777 "$dir/socket"
    "${runner[@]}" rest_auth/local "unix:$dir/socket/rest" >"$dir/log/$name.log" 2>&1 &
  else
    port=$(free_ports 1)
    SLURM_JWT=daemon "${runner[@]}" rest_auth/jwt "127.0.0.1:$port" >"$dir/log/$name.log" 2>&1 &
  fi
  echo $! >"$dir/run/$name.pid"
  for _ in $(seq 500); do
    if [ "$name" = rest_unix ] && [ -S "$dir/socket/rest" ]; then
      echo "unix:$dir/socket/rest"
      return
    elif [ "$name" = rest ] && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "http://127.0.0.1:$port"
      return
    fi
    sleep 0.02
  done
  tail -n 5 "$dir/log/$name.log" >&2
  return 1
}

await_controller() {
  for _ in $(seq 500); do
    if scontrol ping 2>/dev/null | grep -q 'is UP'; then return; fi
    sleep 0.02
  done
  echo "the controller does not come up" >&2
  tail -n 5 "$dir/log/controller.log" >&2
  return 1
}

start() {
  local nodes=${1:-4}
  configure "$nodes"
  slurmctld -i
  # A node that registers too early tries again only seconds later.
  await_controller
  for i in $(seq "$nodes"); do slurmd -N "n$i"; done
  for _ in $(seq 500); do
    [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" = "$nodes" ] && return
    sleep 0.02
  done
  sinfo -N -l >&2
  return 1
}

# A zombie counts as gone: the process that should reap it may be slow.
alive() { [ -r "/proc/$1/stat" ] && [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1)" != Z ]; }

stop() {
  local pids=() pid file
  timeout 5 scancel --signal=KILL --full -u "$(id -un)" 2>/dev/null || true
  timeout 5 scancel -u "$(id -un)" 2>/dev/null || true
  for _ in $(seq 50); do
    [ -z "$(timeout 2 squeue -h 2>/dev/null)" ] && break
    sleep 0.1
  done
  for file in "$dir"/run/rest*.pid "$dir"/run/n*.pid "$dir"/run/controller.pid; do
    [ -s "$file" ] && pids+=("$(cat "$file")")
  done
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for _ in $(seq 100); do
    local left=0
    for pid in "${pids[@]}"; do alive "$pid" && left=1; done
    [ $left = 0 ] && return
    sleep 0.05
  done
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
}

case $command in
  start) start "${3:-4}" ;;
  stop) stop ;;
  controller) slurmctld && await_controller ;;
  rest) rest "${3:-}" ;;
  token) scontrol token lifespan="${3:-600}" | sed 's/^SLURM_JWT=//' ;;
  node) slurmd -N "$3" ;;
  *) echo "cluster.sh: unknown command '$command'" >&2; exit 2 ;;
esac
