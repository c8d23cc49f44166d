# The program plrank with MPI, for training: docker build -f deploy/mpi.Dockerfile -t plrank-mpi .
#
#   docker run -v $PWD:/work plrank-mpi mpirun -n 4 plrank train -data /work/data -out /work/runs/1
#
# In deploy/mpijob.yaml it is both the launcher, which runs mpirun, and the workers, whose command is sshd:
# the MPI Operator reaches its workers by SSH. Nothing listens unless told to.
FROM golang:1.26-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends libopenmpi-dev pkg-config && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -trimpath -tags mpi -o /plrank ./cmd/plrank
RUN bash deploy/notices.sh >/THIRD_PARTY_NOTICES

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends openmpi-bin openssh-server openssh-client && rm -rf /var/lib/apt/lists/*
# The MPI Operator gives all pods one key, and no known_hosts file has the names of workers. sshd runs as the user
# mpiuser, on port 2222, without root and without passwords.
RUN useradd --create-home --uid 1000 mpiuser && mkdir -p /run/sshd /home/mpiuser/.ssh && \
	printf 'Host *\n\tStrictHostKeyChecking no\n\tUserKnownHostsFile /dev/null\n\tLogLevel ERROR\n\tIdentityFile /home/mpiuser/.ssh/id_rsa\n\tPort 2222\n' >> /etc/ssh/ssh_config && \
	printf 'Port 2222\nPidFile /home/mpiuser/sshd.pid\nHostKey /home/mpiuser/.ssh/id_rsa\nStrictModes no\nPasswordAuthentication no\nUsePAM no\n' > /home/mpiuser/.sshd_config && \
	chown -R mpiuser /home/mpiuser
COPY --from=build /plrank /usr/local/bin/plrank
COPY --from=build /src/LICENSE /THIRD_PARTY_NOTICES /usr/share/doc/plrank/
USER mpiuser
WORKDIR /home/mpiuser
CMD ["plrank", "help"]
